"""What happened in a study beyond its scores: routing, Stage 1, errors, people's marks."""
