// Package stale finds the cells whose results no longer follow from the code above them.
//
// A [Tracker] records, for each cell that ran, the names of the session that its statements use, and those that it defines or
// may change; package check finds them. Functions are followed: a cell that calls f uses what f uses. The declarations
// of a cell are no results: the session compiles them again itself. A cell is stale if
//
//   - a name that it uses has been redefined, set or changed since, by a cell above it. A declaration with the same text is
//     no change.
//   - a name that it uses has been removed: by %reset, with the deleted cell that defined it, or because
//     the edited cell no longer defines it. A cell that defined a name that %reset has removed is stale too.
//   - it uses a name that a stale cell above it sets. That one changes it when it runs again.
//   - it sets a name that a cell above has set again since, and a cell below uses the name.
//
// So the results of cells that ran once from top to bottom are never stale, even if variables change on the way.
//
// # Which cell is above
//
// Front ends send the id of a cell, but not where it is. A cell is taken to be above another one if it ran first: its
// first run counts, also after it has run again. A new cell that is inserted above others counts as below them. Without ids, as in a console, each run is a cell
// of its own, unless its text is that of an earlier one. Nothing is known about the order then: a change by any later run
// counts. A run is forgotten when later ones have defined all that it defined, and of more than 1000 runs the oldest.
//
// # Limits
//
// What code changes is what package check sees, see Effects there: not through memory that is shared in a field of something else, by
// reflection, by goroutines and widgets after the cell, or outside of the session, such as in a file.
package stale
