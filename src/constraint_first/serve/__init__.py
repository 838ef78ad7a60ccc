"""An OpenAI-compatible server: any method in front of any endpoint."""
