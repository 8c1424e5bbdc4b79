"""Static HTML pages, figures and drawings.

In come finished frames and values, such as `ArtefactPage`, `ClaimReadings` and `FeaturesPart`; out go files below one
folder. Nothing here reads a store, judges a claim or knows the reference run: `provlab.custody.artefact_results` and
`provlab.bench` gather what pages show. `Site.write` writes every page, and escapes what it shows.
"""
