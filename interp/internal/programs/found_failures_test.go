package programs

// failing has the names of the sequences of cells whose outcomes differ from their file, each with the reason. TestSequences
// fails if another sequence fails or if one of these passes; remove the latter from the list.
var failing = map[string]string{}
