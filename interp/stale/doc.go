// Package stale finds the cells whose results no longer follow from the code above them.
//
// A [Tracker] records, for each cell that ran, the names of the session that its statements use, and those that it defines or
// may change; package check finds them. Functions are followed: a cell that calls f uses what f uses. Declarations
// are no results: the session itself compiles them again when what they use changes. A cell is stale if
//
//   - a name that it uses has been redefined, set or changed since, by a cell above it. A declaration with the same text is
//     no change.
//   - a name that it uses has been removed: by %reset, with the deleted cell that defined it, or because the edited cell no
//     longer defines it. A cell that defined a name that %reset has removed is stale too.
//   - it uses a name that a stale cell above it sets.
//   - when it ran, a cell below it had set a name that it uses.
//
// So that running the stale cells in order gives what all cells give, from top to bottom, cells that set a name
// for another one are stale with it: if a cell above has set the name again in between; if the other one is stale and gets
// the name from a cell below; and if the other one is stale and changes the value in place, as x++ does, which must happen once. A
// test with random notebooks verifies this. A cell is not stale because it has changed what it uses itself, and cells that
// ran once from top to bottom are not stale.
//
// # Which cell is above
//
// Front ends send the id of a cell, but not where it is. A cell is taken to be above those whose first run was later. So a new
// cell counts as below the others, also if it is inserted above them. Without ids, as in a console, each run is a cell of its own,
// unless it repeats the text of an earlier one. Nothing is known about the order then: a change by any later run counts, and only
// the first three rules apply. A run is forgotten when later ones have defined all that it has defined, and of more than 1000
// runs the oldest.
//
// # Limits
//
// What code changes is what package check sees (effects.go): not through memory that is shared in a field of something
// else, by reflection, in goroutines and widgets after the cell, or outside of the session, such as in a file.
package stale
