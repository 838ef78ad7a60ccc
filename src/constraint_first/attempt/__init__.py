"""One attempt at a problem: a method driven to its end, journalled, judged."""
