//go:build !(darwin && (amd64 || arm64)) && !(linux && (amd64 || arm64)) && !(windows && (amd64 || arm64))

package symbols

// platformArchive is no archive: nobody generated one. Check says so.
const platformArchive = unknownPlatform
