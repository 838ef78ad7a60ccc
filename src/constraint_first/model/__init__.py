"""Models: a client for OpenAI-compatible endpoints, the wire format, and local models."""
