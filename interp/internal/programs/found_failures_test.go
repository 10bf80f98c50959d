package programs

// failing are the sequences of cells that do not yet do what their file says, by name, with the reason. A sequence that is
// not in this list must not fail, one that is must not pass: take it out then.
var failing = map[string]string{
	"unused_variable_accepted":     "there is no note",
	"flag_redefined_on_rerun":      "flag.CommandLine keeps the flags of a cell that runs again",
	"flag_redefined_related":       "flag.CommandLine keeps the flags of a cell that runs again",
	"handle_func_again_on_rerun":   "http.DefaultServeMux keeps the handlers of a cell that runs again",
	"func_main_alone_does_nothing": "main is an ordinary name",
	"pasted_program":               "main is an ordinary name",
	"finalizer_not_run":            "the interpreter keeps values alive",
}
