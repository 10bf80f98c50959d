// Runs cells in the kernel for browsers, under Node: node --stack-size=8192 kernel.mjs WASM_EXEC WASM
import { execute, reply, send } from "./session.mjs";

function check(name, got, want) {
  for (const [key, value] of Object.entries(want)) {
    const ok = value instanceof RegExp ? value.test(got[key] ?? "") : typeof value === "function" ? value(got[key]) : got[key] === value;
    if (!ok) { console.error(`FAIL ${name}: ${key} is ${JSON.stringify(got[key])}, want ${value}; ${JSON.stringify(got)}`); process.exit(1); }
  }
  console.log(`ok ${name}` + (got.ms === undefined ? "" : ` (${got.ms} ms)`));
}
check("result", await execute("x := 20\nx + 1"), { status: "ok", result: "21" });
check("streams", await execute('fmt.Println("out"); fmt.Fprintln(os.Stderr, "err")'), { status: "ok", text: /out[^]*err|err[^]*out/ });
check("generics", await execute("type P[T any] struct{ v T }\nfmt.Sprintf(\"%T\", P[int]{3})"), { result: "\"main.P[int]\"" });
check("methods for compiled packages", await execute('import "encoding/xml"\ntype Temp float64\nfunc (t Temp) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%.1f°", float64(t)), nil }\nxmlText, err := xml.Marshal(struct{ XMLName xml.Name `xml:"x"`; T Temp }{T: 3})\nfmt.Sprint(string(xmlText), err)'), { result: '"<x><T>3.0°</T></x><nil>"' });
check("error", await execute("var m map[string]int\nm[\"a\"] = 1"), { status: "error", evalue: /assignment to entry in nil map/ });
check("compile error", await execute("y := x +"), { status: "error" });
check("fib", await execute("func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\nfib(27)"), { result: "196418" });
check("interrupt", await execute("n := 0\nfor { n++ }", () => setTimeout(() => send("control", "interrupt_request", {}), 200)), { status: "error", ename: /interrupted/ });
check("after the interrupt", await execute("n > 0"), { result: "true" });
check("child process", await execute(`exec.Command("ls").Run()`), { status: "error", evalue: /a browser cannot start processes/ });
check("socket", await execute(`_, problem := net.Dial("tcp", "127.0.0.1:80")\nif problem != nil { panic(problem) }`), { status: "error", evalue: /only to servers of the same session/ });
check("shell", await execute("!ls"), { status: "error", evalue: /./ });
check("GPU", await execute(`accel.SetDevice("cuda")`), { status: "error", evalue: /browser/ });
check("simulated GPU", await execute(`accel.SetDevice("simulated")`), { status: "error", evalue: /browser/ });
check("Parquet", await execute(`_, err := frame.Parquet("a.parquet")`), { status: "error", evalue: /Arrow or CSV/ });
check("ranks", await execute("%ranks 2"), { evalue: /browser/ });
check("training", await execute("train, test, err := data.Digits()\nmodel := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))\nrun, err := accel.Fit(ctx, model, train, accel.Epochs(5), accel.AdamW(3e-3), accel.Validate(test), accel.Live(accel.Loss, accel.Accuracy))\nrun.Accuracy() > 0.9"), { status: "ok", updates: (n) => n > 1 });
check("interrupt of training", await execute("run2, err := accel.Fit(ctx, model, train, accel.Epochs(2000))\nrun2 != nil", () => setTimeout(() => send("control", "interrupt_request", {}), 1500)), { ms: (n) => n < 30000 });
const request = async (type, content) => reply(send("shell", `${type}_request`, content), `${type}_reply`);
check("completion", await request("complete", { code: "strings.Rep", cursor_pos: 11 }), { matches: (names) => names.includes("Repeat") });
check("inspection", await request("inspect", { code: "strings.Repeat", cursor_pos: 10, detail_level: 0 }), { found: true, data: (d) => /func strings.Repeat/.test(d["text/plain"]) });
check("incomplete cell", await request("is_complete", { code: "for {" }), { status: "incomplete" });
check("complete cell", await request("is_complete", { code: "x := 1" }), { status: "complete" });
check("history", await request("history", { hist_access_type: "tail", n: 100, output: false, raw: true }), { history: (cells) => cells.some((c) => c[2] === "n > 0") });
process.exit(0);
