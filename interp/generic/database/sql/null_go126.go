//go:build !go1.27

package sql

// validAfterError reports whether a Null is valid after Scan failed.
const validAfterError = true
