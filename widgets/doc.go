// Package widgets provides the standard controls of notebooks, which users move with the mouse and
// programs read and set. [Interact] makes the controls for a function and calls it when they change.
//
//	n := widgets.NewIntSlider(1, 100, 10, widgets.Description("bins"))
//	n.OnChange(func(n int) { figure.Update(histogram(n)) })
//	n
//
// The controls:
//
//	sliders    NewIntSlider, NewFloatSlider, NewFloatLogSlider, NewIntRangeSlider,
//	           NewFloatRangeSlider, NewSelectionSlider, NewSelectionRangeSlider
//	fields     NewText, NewTextarea, NewPassword, NewCombobox, NewIntText, NewFloatText,
//	           NewBoundedIntText, NewBoundedFloatText
//	choices    NewCheckbox, NewDropdown, NewRadioButtons, NewSelect, NewSelectMultiple,
//	           NewToggleButton, NewToggleButtons
//	pickers    NewDatePicker, NewTimePicker, NewDatetimePicker, NewColorPicker, NewFileUpload
//	actions    NewButton, NewPlay, JSLink
//	views      NewLabel, NewHTML, NewHTMLMath, NewImage, NewValid, NewIntProgress,
//	           NewFloatProgress, NewOutput
//	boxes      NewVBox, NewHBox, NewGridBox, NewTab, NewAccordion, NewStack
//
// The controls use the models of ipywidgets 8 (@jupyter-widgets/controls 2.0.0), so front ends
// need no extension of ours: JupyterLab with the package ipywidgets (or jupyterlab_widgets)
// installed, Notebook 7, VS Code. Front ends without widgets, such as a terminal, show a line
// of text. A program without a notebook can use widgets too, but nobody moves them.
//
// Figures of package plots have a model too, with the protocol of anywidget 0.9 or later, which is not
// displayed: its view takes the place of the image in an output. [NewFigures] connects them.
//
// A widget may be used from any goroutine. Functions passed to OnChange and OnClick run when a
// user does something, even while a cell runs, one call at a time; they need a lock for data
// that they share with a cell. Their output belongs to the cell that set them, and an interrupt
// stops them. Setting a value from the program does not call them. A function of OnChange that is slower
// than a user who drags a slider skips positions, and gets the last one; no click is skipped, unless
// more than 256 wait.
//
// Values from the front end are checked: those that a widget cannot have are dropped, and numbers are
// limited to its range.
//
// Notebooks that are saved or exported with the states of their widgets show them without a kernel:
// those that nbconvert and quern run -o execute, and those that JupyterLab saves with the setting "Save
// Widget State Automatically". The states have all values, also passwords and uploaded files.
//
// The models are specified at
// https://github.com/jupyter-widgets/ipywidgets/tree/main/packages/schema,
// protocol version 2.1.0.
package widgets
