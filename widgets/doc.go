// Package widgets has the standard controls of notebooks, which people move with
// the mouse and which a program reads and sets: [NewIntSlider],
// [NewFloatSlider], [NewDropdown], [NewCheckbox], [NewText], [NewButton],
// [NewIntProgress], [NewHTML], [NewVBox], [NewHBox] and [NewOutput].
// [Interact] makes the controls for a function and calls it when they move.
//
//	n := widgets.NewIntSlider(1, 100, 10, widgets.Description("bins"))
//	n.OnChange(func(n int) { picture.Update(histogram(n)) })
//	n
//
// They are the models of ipywidgets 8 (@jupyter-widgets/controls 2.0.0), so
// that a front end needs nothing of ours: JupyterLab with the package
// ipywidgets (or jupyterlab_widgets) installed, Notebook 7, VS Code. What shows
// no widgets, a terminal for instance, shows a line of text. A program without a
// notebook may use them too; nobody moves them then.
//
// A widget may be used from any goroutine. What is given to OnChange and
// OnClick runs when a person did something, also while a cell runs, one call at
// a time; what it shares with a cell needs a lock. What it prints belongs to the
// cell that gave it, and an interrupt ends it. Setting a value from the program
// calls nothing.
//
// The rules of the models are those of
// https://github.com/jupyter-widgets/ipywidgets/tree/main/packages/schema,
// protocol version 2.1.0.
package widgets
