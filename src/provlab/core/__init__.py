"""What a trial is and where it is kept: identity, protocols, plans, the store and its frames."""
