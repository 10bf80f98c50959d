// Package trust reports whether other users of a machine can change a file.
//
// [File] checks a file whose content is executed or trusted, [Dir] a directory in which
// the program stores such files. Both check the whole path, since someone who can rename
// a directory above a file can replace the file.
//
// On systems without owners and modes, such as Windows, both accept every absolute path:
// there, the directories of a user are closed to others by default.
package trust
