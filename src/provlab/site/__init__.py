"""The HTML report: static pages over what is stored. It shows verdicts, so it stands above claims and reports."""
