"""The programs that agents run before and after their own steps. They are quick, and block only what needs a person."""
