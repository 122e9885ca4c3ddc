"""The kinds of evidence a verdict can rest on."""
