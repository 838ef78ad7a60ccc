"""Adapters: cfr inside the tools that people already use. Each is an extra of its own."""
