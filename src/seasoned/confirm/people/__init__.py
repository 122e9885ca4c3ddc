"""Who may ask, decide and administer: credentials, passphrases and changes of permissions."""
