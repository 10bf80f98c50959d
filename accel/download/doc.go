// Package download fetches the files of models and data sets by HTTPS.
//
//	err := download.Get(ctx, "https://example.org/weights.safetensors", "weights.safetensors", download.SHA256("9f86…"))
//
// A file gets its name only when it is complete and verified; until then its data are in a file
// with ".part" appended to the name. A download that was interrupted continues there with a range
// request (RFC 9110, section 14), also in a later process, unless the file has changed on the
// server.
//
// A user, a password and the query of an address, which may have a token, are neither in errors nor
// in files.
//
// get.go has the order of the steps, part.go the unfinished file, request.go the requests.
package download
