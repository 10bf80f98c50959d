package symbols

// platformArchive is empty: std.zip is of this platform.
const platformArchive = ""
