"""The HTML report: static pages over what is stored. It shows verdicts and readings, so it stands above both."""
