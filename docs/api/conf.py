"""Sphinx: the API reference, from the docstrings."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from mindspore_tanhbw import __version__

project = "mindspore_tanhbw"
author = "The mindspore_tanhbw authors"
copyright = "2026, " + author
release = version = __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
html_theme = "alabaster"
# The sections that MindSpore's docstrings have and napoleon does not know.
napoleon_custom_sections = ["Supported Platforms", "Inputs", "Outputs"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
