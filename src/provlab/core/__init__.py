"""Trials and their storage: identities, protocols, plans, the store and its frames."""
