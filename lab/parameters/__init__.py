"""Every parameter of HistGradientBoosting, LightGBM and XGBoost beside ours: docs/parameters.md.

    python -m lab.parameters           # write the page
    python -m lab.parameters --check   # say what is missing or out of date, and exit with 1 if anything is
    python -m lab.parameters --read    # take the signatures of the installed libraries, then write the page

``rows`` says what is what, by hand. ``signatures.json`` holds names and defaults of the others, with their versions, so
that the page depends on no library that happens to be installed. Where one is installed in that very version, its
signature must be the one kept; in another version, differences are told and nothing fails.
"""
