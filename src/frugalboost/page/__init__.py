"""From the contents of a report to one HTML file; only plain lists, numbers and texts are known here."""
