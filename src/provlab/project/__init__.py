"""What belongs to the project at hand: which classes its configs can name."""
