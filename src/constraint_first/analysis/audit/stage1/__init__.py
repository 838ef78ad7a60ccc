"""Stage 1 against gold constraints: statements, what they imply, what they are worth."""
