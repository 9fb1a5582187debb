"""Checking the graders themselves: labelled cases through the verifiers, and samples of verdicts labelled by hand."""
