"""Mine: judged sessions in, the examples, notes and workflows of a template out."""
