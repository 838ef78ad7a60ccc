"""The manual audit of Stage 1: samples, marks made by people, rates and agreement."""
