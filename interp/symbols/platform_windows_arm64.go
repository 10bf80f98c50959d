package symbols

import _ "embed"

// platformArchive holds what differs on this platform from std.zip.
//
//go:embed std_windows_arm64.zip
var platformArchive string
