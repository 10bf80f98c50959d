"""Widgets and subshells as a front end uses them."""

import base64
import queue
import time
import uuid

import pytest

import nbclient
import nbformat
from conftest import TIMEOUT, text
from ipywidgets.widgets.widget import _registry as widget_types

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def shown(messages):
    """Returns the id of the model that a cell shows."""
    for msg in messages:
        if msg["msg_type"] == "execute_result":
            return msg["content"]["data"][VIEW]["model_id"]
    raise AssertionError("nothing was shown")


def send(kernel, kind, content, subshell=None):
    msg = kernel.client.session.msg(kind, content)
    if subshell:
        msg["header"]["subshell_id"] = subshell
    kernel.client.shell_channel.send(msg)
    return msg["header"]["msg_id"]


def move(kernel, model, value, subshell=None):
    return send(kernel, "comm_msg", {"comm_id": model, "data": {"method": "update", "state": {"value": value}, "buffer_paths": []}}, subshell)


def control(kernel, kind, content=None):
    msg = kernel.client.session.msg(kind, content or {})
    kernel.client.control_channel.send(msg)
    while True:
        reply = kernel.client.get_control_msg(timeout=TIMEOUT)
        if reply["parent_header"].get("msg_id") == msg["header"]["msg_id"]:
            return reply["content"]


def until(kernel, condition):
    """Returns the iopub messages up to the first one that matches."""
    messages = []
    while not (messages and condition(messages[-1])):
        messages.append(kernel.client.get_iopub_msg(timeout=TIMEOUT))
    return messages


def idle(msg_id):
    return lambda m: (m["msg_type"] == "status" and m["content"]["execution_state"] == "idle"
                      and m["parent_header"].get("msg_id") == msg_id)


def test_a_model_opens_before_it_is_shown(kernel):
    messages = kernel.ok("widgets.NewCheckbox(true)")
    kinds = [m["msg_type"] for m in messages if m["msg_type"] != "status"]
    assert kinds == ["execute_input", "comm_open", "comm_open", "comm_open", "execute_result"]
    opened = messages[-2]
    assert opened["content"]["target_name"] == "jupyter.widget" and opened["metadata"] == {"version": "2.1.0"}
    assert opened["content"]["comm_id"] == shown(messages)
    infos = kernel.client.comm_info(target_name="jupyter.widget", reply=True, timeout=TIMEOUT)["content"]["comms"]
    assert infos[shown(messages)] == {"target_name": "jupyter.widget"}


def test_a_slider_moves_also_while_a_cell_runs(kernel):
    messages = kernel.ok('s := widgets.NewIntSlider(0, 10, 3)\ns.OnChange(func(n int) { fmt.Println("moved to", n) })\ns')
    model, cell = shown(messages), messages[0]["parent_header"]["msg_id"]
    moved = until(kernel, idle(move(kernel, model, 5)))
    said = [m for m in moved if m["msg_type"] == "stream"]
    assert said[0]["content"]["text"] == "moved to 5\n" and said[0]["parent_header"]["msg_id"] == cell
    assert kernel.result("s.Value()") == "5"

    running = kernel.send("for s.Value() != 7 { time.Sleep(time.Millisecond) }\ns.Value()")
    until(kernel, lambda m: m["msg_type"] == "execute_input" and m["parent_header"]["msg_id"] == running)
    subshell = control(kernel, "create_subshell_request")["subshell_id"]
    move(kernel, model, 7, subshell)
    assert "7" in [m["content"]["data"]["text/plain"] for m in until(kernel, idle(running)) if m["msg_type"] == "execute_result"]
    assert subshell in control(kernel, "list_subshell_request")["subshell_id"]
    assert control(kernel, "delete_subshell_request", {"subshell_id": subshell}) == {"status": "ok"}


def test_a_panic_in_a_handler_ends_nothing(kernel):
    model = shown(kernel.ok('t := widgets.NewText("a")\nt.OnChange(func(s string) { panic("in the handler: " + s) })\nt'))
    said = until(kernel, idle(move(kernel, model, "b")))
    assert "in the handler: b" in text(said, "stderr")
    _, reply = kernel.run("t.Value()")
    assert reply["content"]["status"] == "error" and "this cell has not been run" in reply["content"]["evalue"]
    assert kernel.result("t.Value()") == '"b"'


def test_a_handler_without_an_end(kernel):
    """A handler that does not return blocks nothing else, and an interrupt ends it."""
    stuck = shown(kernel.ok('e := widgets.NewIntSlider(0, 10, 3)\ne.OnChange(func(n int) { fmt.Println("begun"); for {} })\ne'))
    other = shown(kernel.ok('o := widgets.NewIntSlider(0, 10, 3)\no.OnChange(func(n int) { fmt.Println("moved to", n) })\no'))
    move(kernel, stuck, 5)
    until(kernel, lambda m: m["msg_type"] == "stream" and "begun" in m["content"]["text"])
    for value in range(4, 9):
        assert text(until(kernel, idle(move(kernel, other, value)))) == f"moved to {value}\n"
        move(kernel, stuck, value)  # waits for the handler
    assert kernel.result("o.Value()") == "8"
    while control(kernel, "interrupt_request") != {"status": "ok"}:  # the worker of a busy machine may not answer in time
        pass
    until(kernel, lambda m: m["msg_type"] == "stream" and "begun" in m["content"]["text"])  # the next one
    while kernel.result("e.Value()") != "8":
        control(kernel, "interrupt_request")


def test_a_page_that_is_loaded_again(kernel):
    model = shown(kernel.ok("widgets.NewIntSlider(0, 10, 4)"))
    comm = uuid.uuid4().hex
    until(kernel, idle(send(kernel, "comm_open", {"comm_id": comm, "target_name": "jupyter.widget.control", "data": {}})))
    answer = [m for m in until(kernel, idle(send(kernel, "comm_msg", {"comm_id": comm, "data": {"method": "request_states"}})))
              if m["msg_type"] == "comm_msg"][0]["content"]["data"]
    assert answer["method"] == "update_states" and answer["states"][model]["state"]["value"] == 4


def test_wrong_messages_change_nothing(kernel):
    model = shown(kernel.ok("w := widgets.NewIntSlider(0, 10, 4)\nw"))
    for data in ({}, [], None, {"method": "update"}, {"method": "update", "state": 3}, {"method": "update", "state": {"value": "x"}},
                 {"method": "update", "state": {"value": [[]], "max": 99, "no_such": 1}}, {"method": 1}, {"method": "custom"}):
        until(kernel, idle(send(kernel, "comm_msg", {"comm_id": model, "data": data})))
    assert kernel.result("w.Value()") == "4"


def test_a_worker_that_dies_takes_its_widgets_along(kernel):
    model = shown(kernel.ok("widgets.NewIntSlider(0, 10, 4)"))
    messages, reply = kernel.run("os.Exit(1)")
    assert reply["content"]["status"] == "error"
    deadline = time.monotonic() + TIMEOUT
    while model in kernel.client.comm_info(reply=True, timeout=TIMEOUT)["content"]["comms"]:
        assert time.monotonic() < deadline
    assert kernel.result("1 + 1") == "2"


def test_states_are_kept_in_the_notebook():
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(
        'box, err := widgets.Interact(func(n int) string { return strings.Repeat("x", n) }, 3)'), nbformat.v4.new_code_cell("box")])
    nbclient.NotebookClient(nb, kernel_name="quern", timeout=TIMEOUT).execute()
    model = nb.cells[1].outputs[0]["data"][VIEW]["model_id"]
    states = nb.metadata["widgets"][STATE]["state"]
    assert states[model]["model_name"] == "VBoxModel"
    assert {s["model_name"] for s in states.values()} >= {"VBoxModel", "IntSliderModel", "OutputModel", "LayoutModel"}
    assert any(s["model_name"] == "OutputModel" and s["state"]["outputs"][0]["data"]["text/plain"] == "xxx" for s in states.values())


ALL_CONTROLS = [
    """slider := widgets.NewIntSlider(0, 10, 3, widgets.Description("n"), widgets.Disabled())
rate := widgets.NewFloatSlider(0, 1, 0.25, widgets.OnRelease())
color := widgets.NewDropdown([]string{"red", "grün"}, widgets.Disabled())
none := widgets.NewDropdown(nil)
on := widgets.NewCheckbox(true, widgets.OnRelease())
name := widgets.NewText("Ann <b>", widgets.Width("50%"))
press := widgets.NewButton("Press 😀", widgets.Tooltip("now"))
done := widgets.NewIntProgress(0, 10, 4, widgets.Disabled())
title := widgets.NewHTML("<b>bold</b>", widgets.Disabled())
below := widgets.NewOutput()
fmt.Fprintln(below, "printed")
below.Show(display.HTML("<i>shown</i>"), display.PNG([]byte("not really")))
widgets.NewVBox(widgets.NewHBox(slider, rate, color, none), widgets.NewHBox(on, name, press), done, title, below)""",
    """slider.SetValue(7)
rate.SetValue(0.75)
color.SetValue("grün")
on.SetValue(false)
name.SetValue("Bob")
done.SetValue(9)
title.SetValue("<i>moved</i>")
below.Clear()
fmt.Fprintln(below, "again")""",
]


def referred(value):
    """Returns the ids of the models to which a value of a state refers."""
    if isinstance(value, list):
        return [r for v in value for r in referred(v)]
    return [value.removeprefix("IPY_MODEL_")] if isinstance(value, str) and value.startswith("IPY_MODEL_") else []


def saved_states(*cells):
    """Runs cells with nbclient, checks the states of their widgets against ipywidgets, and returns them by id."""
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbclient.NotebookClient(nb, kernel_name="quern", timeout=TIMEOUT).execute()
    nbformat.validate(nb)
    saved = nb.metadata["widgets"][STATE]
    assert (saved["version_major"], saved["version_minor"]) == (2, 0)
    for name, model in saved["state"].items():
        assert set(model) <= {"model_name", "model_module", "model_module_version", "state", "buffers"}, name
        state = model["state"]
        assert [model[k] for k in ("model_name", "model_module", "model_module_version")] == [
            state[k] for k in ("_model_name", "_model_module", "_model_module_version")]
        kind = widget_types.get(*(state[f"_{side}_{part}"] for side in ("model", "view") for part in ("module", "module_version", "name")))
        traits = kind.class_traits(sync=True)
        binary = {b["path"][0] for b in model.get("buffers", [])}
        # Of layouts and styles only what differs from their defaults is sent.
        needed = set() if model["model_name"] == "LayoutModel" or "StyleModel" in model["model_name"] else set(traits) - {"style"} - binary
        assert needed <= set(state) <= set(traits), (model["model_name"], needed ^ set(state))
        options = {"options": ["a"]} if model["model_name"].startswith("Selection") else {}  # without them these two cannot be made
        for key, value in state.items():
            assert set(referred(value)) <= set(saved["state"]), (model["model_name"], key)
            if not key.startswith("_") and not referred(value) and not (key in ("index", "selected_index") and value is not None):
                decode = traits[key].metadata.get("from_json", lambda value, _: value)
                kind(**options, **{key: decode(value, None)})  # its traits reject a wrong type
    return saved["state"]


def test_the_states_are_those_of_ipywidgets():
    """Checks the state from which a page without a kernel creates the widgets."""
    states = saved_states(*ALL_CONTROLS)
    values = {m["model_name"]: m["state"].get("value", m["state"].get("index", m["state"].get("outputs"))) for m in states.values()}
    assert {m["state"]["value"] for m in states.values() if m["model_name"] == "IntSliderModel"} == {7}
    assert sorted(str(m["state"]["index"]) for m in states.values() if m["model_name"] == "DropdownModel") == ["1", "None"]
    del values["DropdownModel"]
    assert {k: v for k, v in values.items() if v is not None} == {
        "IntSliderModel": 7, "FloatSliderModel": 0.75, "CheckboxModel": False, "TextModel": "Bob", "IntProgressModel": 9,
        "HTMLModel": "<i>moved</i>", "OutputModel": [{"output_type": "stream", "name": "stdout", "text": "again\n"}],
    }
    assert {"ButtonModel", "VBoxModel", "HBoxModel", "LayoutModel", "SliderStyleModel", "ButtonStyleModel"} <= set(values)


MORE_CONTROLS = """entries := []string{"a", "b", "c"}
day := time.Date(2026, 2, 28, 9, 5, 7, 0, time.UTC)
steps, position := widgets.NewPlay(0, 10, 2, 50*time.Millisecond), widgets.NewIntSlider(0, 10, 2)
together, err := widgets.JSLink(steps, position)
picture := widgets.NewImage([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle r="20"/></svg>`))
texts := widgets.NewVBox(widgets.NewTextarea("x"), widgets.NewPassword(), widgets.NewCombobox(entries, "a"), widgets.NewIntText(3),
	widgets.NewBoundedIntText(0, 10, 4), widgets.NewFloatText(0.5), widgets.NewBoundedFloatText(0, 1, 0.25))
sliders := widgets.NewVBox(widgets.NewIntRangeSlider(0, 10, [2]int{2, 8}), widgets.NewFloatRangeSlider(0, 1, [2]float64{0.25, 0.5}),
	widgets.NewFloatLogSlider(-5, 0, 0.001), widgets.NewSelectionSlider(entries), widgets.NewSelectionRangeSlider(entries), steps, position)
choices := widgets.NewHBox(widgets.NewRadioButtons(entries), widgets.NewSelect(entries), widgets.NewSelectMultiple(entries),
	widgets.NewToggleButton("on", true), widgets.NewToggleButtons(entries))
pickers := widgets.NewGridBox(2, widgets.NewDatePicker(day), widgets.NewTimePicker(day), widgets.NewDatetimePicker(day),
	widgets.NewColorPicker(color.RGBA{255, 0, 0, 255}), widgets.NewFileUpload(widgets.Multiple()))
shown := widgets.NewStack(widgets.NewVBox(widgets.NewLabel("plain"), widgets.NewHTMLMath("$x^2$"), widgets.NewValid(true),
	widgets.NewFloatProgress(0, 1, 0.75), picture))
widgets.NewVBox(widgets.NewTab([]string{"texts", "sliders"}, texts, sliders), widgets.NewAccordion([]string{"choices"}, choices), pickers, shown)"""


def test_the_other_states_are_those_of_ipywidgets():
    states = saved_states(MORE_CONTROLS).values()
    values = {m["model_name"]: m["state"].get("value", m["state"].get("index", m["state"].get("selected_index"))) for m in states}
    day = {"year": 2026, "month": 1, "date": 28}
    clock = {"hours": 9, "minutes": 5, "seconds": 7, "milliseconds": 0}
    assert {k: v for k, v in values.items() if v is not None} == {
        "TextareaModel": "x", "PasswordModel": "", "ComboboxModel": "a", "IntTextModel": 3, "BoundedIntTextModel": 4, "FloatTextModel": 0.5,
        "BoundedFloatTextModel": 0.25, "IntRangeSliderModel": [2, 8], "FloatRangeSliderModel": [0.25, 0.5], "FloatLogSliderModel": 0.001,
        "SelectionSliderModel": 0, "SelectionRangeSliderModel": [0, 0], "PlayModel": 2, "IntSliderModel": 2, "RadioButtonsModel": 0,
        "SelectModel": 0, "SelectMultipleModel": [], "ToggleButtonModel": True, "ToggleButtonsModel": 0, "DatePickerModel": day,
        "TimeModel": clock, "DatetimeModel": day | clock, "ColorPickerModel": "#ff0000", "FileUploadModel": [], "LabelModel": "plain",
        "HTMLMathModel": "$x^2$", "ValidModel": True, "FloatProgressModel": 0.75, "TabModel": 0, "StackModel": 0,
    }
    [image] = [m for m in states if m["model_name"] == "ImageModel"]
    [buffer] = image["buffers"]
    assert buffer["path"] == ["value"] and base64.b64decode(buffer["data"]).startswith(b"<svg") and image["state"]["format"] == "svg+xml"
    [link] = [m for m in states if m["model_name"] == "LinkModel"]
    assert len(referred(link["state"]["source"])) == len(referred(link["state"]["target"])) == 1


def test_an_uploaded_file_arrives(kernel):
    model = shown(kernel.ok('up := widgets.NewFileUpload()\nup.OnChange(func(f []widgets.File) { fmt.Println("got", f[0].Name) })\nup'))
    data = {"method": "update", "state": {"value": [{"name": "a.bin", "type": "", "size": 3, "last_modified": 0}], "error": ""},
            "buffer_paths": [["value", 0, "content"]]}
    session = kernel.client.session
    msg = session.msg("comm_msg", {"comm_id": model, "data": data})
    session.send(kernel.client.shell_channel.socket, msg, buffers=[b"\x00\xff\x01"])
    assert text(until(kernel, idle(msg["header"]["msg_id"]))) == "got a.bin\n"
    assert kernel.result("up.Value()[0].Content") == "[0 255 1]"


def requested_states(kernel, subshell=None):
    """Returns the states as a page requests them when it is loaded."""
    comm = uuid.uuid4().hex
    until(kernel, idle(send(kernel, "comm_open", {"comm_id": comm, "target_name": "jupyter.widget.control", "data": {}}, subshell)))
    [answer] = [m["content"]["data"] for m in until(kernel, idle(send(
        kernel, "comm_msg", {"comm_id": comm, "data": {"method": "request_states"}}, subshell)))
        if m["msg_type"] == "comm_msg" and m["content"]["comm_id"] == comm]
    return answer["states"]


def test_labels_with_keys_in_a_page_that_is_loaded_again(kernel):
    kernel.ok("examples, err := data.FromSlices([][]float32{{0}, {1}}, []int{0, 1})\npool := active.NewPool(examples, 0, 1)")
    running = kernel.send("err = active.Ask(ctx, pool, []int{1, 0}, labeling.Buttons())\nfmt.Println(pool.Labeled().Label(0), pool.Labeled().Label(1))")
    until(kernel, lambda m: m["msg_type"] == "display_data")
    subshell = control(kernel, "create_subshell_request")["subshell_id"]

    def panel(subshell=None):
        states = requested_states(kernel, subshell)
        [keys] = [k for k, m in states.items() if m["state"].get("placeholder", "").startswith("keys: 0 1, ")]
        buttons = {m["state"]["description"]: m["state"]["disabled"] for m in states.values() if m["model_name"] == "ButtonModel"}
        return keys, buttons

    keys, buttons = panel(subshell)
    assert buttons == {"0": False, "1": False, "skip": False, "undo": True, "end": False}
    messages = []
    while not any(idle(running)(m) for m in messages):  # an answer that comes too early is dropped
        messages += until(kernel, idle(move(kernel, keys, "1", subshell)))
        try:
            messages.append(kernel.client.get_iopub_msg(timeout=0.3))
        except queue.Empty:
            continue
    assert "1 1" in text(messages)
    assert control(kernel, "delete_subshell_request", {"subshell_id": subshell}) == {"status": "ok"}
    assert set(panel()[1].values()) == {True}


def test_interact_shows_itself(kernel):
    model = shown(kernel.ok('widgets.Interact(func(n int) string { return fmt.Sprint("n is ", n) }, 3)'))
    assert model in kernel.client.comm_info(reply=True, timeout=TIMEOUT)["content"]["comms"]


@pytest.mark.parametrize("code", [
    'widgets.Interact(func(freq float64, n int, _ bool, kind string) string { return "" }, 1.5, widgets.NewIntSlider(1, 10, 5, widgets.Description("points")), true, []string{"sin"})',
    'func wave(freq float64, points int, _ bool, kind string) string { return "" }\nwidgets.Interact(wave, 1.5, 5, true, []string{"sin"})',
    'func show(f func(freq float64, points int, dark bool, kind string) string) (*widgets.Box, error) { return widgets.Interact(f, 1.5, 5, true, []string{"sin"}) }\n'
    'show(func(a float64, b int, c bool, d string) string { return "" })',
])
def test_interact_labels_its_controls(kernel, code):
    messages = kernel.ok(code)
    opened = [m["content"]["data"]["state"] for m in messages if m["msg_type"] == "comm_open"]
    described = {s["_model_name"]: s.get("description", "") for s in opened if s["_model_name"] in ("FloatSliderModel", "IntSliderModel", "CheckboxModel", "DropdownModel")}
    for m in messages:  # a label that is set after the control was opened
        if m["msg_type"] == "comm_msg" and "description" in m["content"]["data"].get("state", {}):
            [name] = [o["content"]["data"]["state"]["_model_name"] for o in messages
                      if o["msg_type"] == "comm_open" and o["content"]["comm_id"] == m["content"]["comm_id"]]
            described[name] = m["content"]["data"]["state"]["description"]
    third = "dark" if "dark" in code else ""
    assert described == {"FloatSliderModel": "freq", "IntSliderModel": "points", "CheckboxModel": third, "DropdownModel": "kind"}
