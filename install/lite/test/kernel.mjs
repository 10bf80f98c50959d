// Runs cells in the kernel for browsers, under Node: node --stack-size=8192 kernel.mjs WASM_EXEC WASM
import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import fs from "node:fs";
globalThis.crypto ??= webcrypto;
globalThis.fs = fs;
globalThis.process = process;
await import(process.argv[2]);
const messages = [];
let wake = () => {};
const ready = new Promise((resolve) => {
  globalThis.quernHost = { send: (text) => { messages.push(JSON.parse(text)); wake(); }, ready: resolve };
});
const go = new Go();
go.argv = ["quern"];
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[3]), go.importObject);
go.run(instance);
await ready;
let count = 0;
function send(channel, type, content) {
  const id = `m${++count}`;
  quernKernel.receive(JSON.stringify({ channel, header: { msg_id: id, msg_type: type, session: "node", username: "", date: "", version: "5.3" }, parent_header: {}, metadata: {}, content }), []);
  return id;
}
async function reply(id, type) {
  for (;;) {
    const found = messages.find((m) => m.parent_header.msg_id === id && m.header.msg_type === type);
    if (found) return found.content;
    await new Promise((resolve) => (wake = resolve));
  }
}
async function execute(code, during = () => {}) {
  const start = performance.now();
  const id = send("shell", "execute_request", { code, silent: false, store_history: true, user_expressions: {}, allow_stdin: false, stop_on_error: true });
  during();
  const { status, ename, evalue } = await reply(id, "execute_reply");
  const own = messages.filter((m) => m.parent_header.msg_id === id);
  const text = own.filter((m) => m.header.msg_type === "stream").map((m) => m.content.text).join("");
  const result = own.find((m) => m.header.msg_type === "execute_result")?.content.data["text/plain"];
  const updates = own.filter((m) => m.header.msg_type.includes("display_data")).length;
  return { status, ename, evalue, text, result, updates, ms: Math.round(performance.now() - start) };
}
function check(name, got, want) {
  for (const [key, value] of Object.entries(want)) {
    const ok = value instanceof RegExp ? value.test(got[key] ?? "") : typeof value === "function" ? value(got[key]) : got[key] === value;
    if (!ok) { console.error(`FAIL ${name}: ${key} is ${JSON.stringify(got[key])}, want ${value}; ${JSON.stringify(got)}`); process.exit(1); }
  }
  console.log(`ok ${name} (${got.ms} ms)`);
}
check("result", await execute("x := 20\nx + 1"), { status: "ok", result: "21" });
check("streams", await execute('fmt.Println("out"); fmt.Fprintln(os.Stderr, "err")'), { status: "ok", text: /out[^]*err|err[^]*out/ });
check("generics", await execute("type P[T any] struct{ v T }\nfmt.Sprintf(\"%T\", P[int]{3})"), { result: "\"main.P[int]\"" });
check("error", await execute("var m map[string]int\nm[\"a\"] = 1"), { status: "error", evalue: /assignment to entry in nil map/ });
check("compile error", await execute("y := x +"), { status: "error" });
check("fib", await execute("func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\nfib(27)"), { result: "196418" });
check("interrupt", await execute("n := 0\nfor { n++ }", () => setTimeout(() => send("control", "interrupt_request", {}), 200)), { status: "error", ename: /interrupted/ });
check("after the interrupt", await execute("n > 0"), { result: "true" });
check("child process", await execute(`exec.Command("ls").Run()`), { status: "error", evalue: /not found/ });
check("shell", await execute("!ls"), { status: "error", evalue: /./ });
check("GPU", await execute(`accel.SetDevice("cuda")`), { status: "error", evalue: /browser/ });
check("Parquet", await execute(`_, err := frame.Parquet("a.parquet")`), { status: "error", evalue: /Arrow or CSV/ });
check("ranks", await execute("%ranks 2"), { evalue: /browser/ });
check("training", await execute("train, test, err := data.Digits()\nmodel := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))\nrun, err := accel.Fit(ctx, model, train, accel.Epochs(5), accel.AdamW(3e-3), accel.Validate(test), accel.Live(accel.Loss, accel.Accuracy))\nrun.Accuracy() > 0.9"), { status: "ok", updates: (n) => n > 1 });
check("interrupt of training", await execute("run2, err := accel.Fit(ctx, model, train, accel.Epochs(2000))\nrun2 != nil", () => setTimeout(() => send("control", "interrupt_request", {}), 1500)), { ms: (n) => n < 30000 });
console.log(JSON.stringify(await reply(send("shell", "complete_request", { code: "strings.Rep", cursor_pos: 11 }), "complete_reply")).slice(0, 120));
process.exit(0);
