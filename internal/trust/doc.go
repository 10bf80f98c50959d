// Package trust reports whether other users of a machine can change a file.
//
// [File] judges a file whose content is executed or believed, [Dir] a directory in
// which the program keeps such files. Both look at the whole path: whoever may rename
// a directory above a file may replace the file.
//
// On systems without owners and modes, such as Windows, both accept every absolute
// path: there the directories of a user are closed to others by default.
package trust
