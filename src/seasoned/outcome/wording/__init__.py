"""The rules of wording, one file for each way of speaking."""
