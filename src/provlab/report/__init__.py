"""Static HTML pages, figures and drawings.

The input is finished frames and values, such as `ArtefactPage`, `ClaimReadings` and
`FeaturesPart`. The output is files below one folder. Nothing here reads a store, judges
a claim or knows the reference run, because `provlab.custody.artefact_results` and
`provlab.bench` gather the content of pages. `Site.write` writes every page and escapes
its content.
"""
