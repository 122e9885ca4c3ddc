"""Mine: judged sessions in, the examples of a template out."""
