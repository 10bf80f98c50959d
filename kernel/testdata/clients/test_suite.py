"""Jupyter's own suite for kernels, run against the installed kernelspec."""

from unittest import mock

from conftest import TIMEOUT
from jupyter_kernel_test import IopubWelcomeTests, KernelTests


class TestQuern(KernelTests):
    kernel_name = "quern"
    language_name = "go"
    file_extension = ".go"
    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'fmt.Fprintln(os.Stderr, "to stderr")'
    completion_samples = [
        {"text": "strings.ToUpperS", "matches": ["ToUpperSpecial"]},
        {"text": "fmt.Sprintl", "matches": ["Sprintln"]},
    ]
    complete_code_samples = ["1 + 1", "x := 1", "func f() int { return 1 }", "for i := range 3 {\n}"]
    incomplete_code_samples = ["func f() {", "for i := range 3 {\n\tfmt.Println(", "x := []int{1,", "s := `raw"]
    invalid_code_samples = ["x := )", "func 1() {}"]
    code_page_something = "fmt.Println?"
    code_generate_error = 'panic("on purpose")'
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": "strings.Repeat(\"ab\", 2)", "result": '"abab"'},
        {"code": "[]int{1, 2, 3}"},
    ]
    code_display_data = [
        {"code": 'display.Show(display.HTML("<b>x</b>"));', "mime": "text/html"},
        {"code": 'display.Show(display.Markdown("*x*"));', "mime": "text/markdown"},
    ]
    code_history_pattern = "6 ? 7"  # a shell pattern
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "fmt.Println"
    code_clear_output = "display.ClearOutput(false)"

    def flush_channels(self):
        """Waits for the end of a request of its own first: on a busy machine nothing may come for 0.1 s, and then more."""
        msg_id = self.kc.kernel_info()
        while True:
            msg = self.kc.get_iopub_msg(timeout=TIMEOUT)
            if msg["parent_header"].get("msg_id") == msg_id and msg["content"].get("execution_state") == "idle":
                break
        super().flush_channels()

    def execute_helper(self, code, timeout=TIMEOUT, **options):
        """Waits longer than 0.1 s for each message: a busy machine needs that, and idle is always the last one."""
        channel = self.kc.iopub_channel
        get = channel.get_msg
        with mock.patch.object(channel, "get_msg", lambda timeout: get(timeout=TIMEOUT)):
            return super().execute_helper(code, timeout, **options)


del KernelTests  # or pytest would collect the bare suite too


class TestQuernWelcome(IopubWelcomeTests):
    kernel_name = "quern"
    support_iopub_welcome = True


del IopubWelcomeTests
