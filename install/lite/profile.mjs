// Writes the numbers of the functions that a notebook needs, for link split, with a program of link count:
//	node --stack-size=8192 profile.mjs WASM_EXEC PROGRAM NOTEBOOK USED
import { readFileSync, writeFileSync } from "node:fs";
import { execute, exports, reply, send } from "./test/session.mjs";

const [notebook, file] = process.argv.slice(4);
const cells = JSON.parse(readFileSync(notebook, "utf8")).cells.filter((c) => c.cell_type === "code").map((c) => [c.source].flat().join(""));
// What notebooks need beside cells that work.
const more = [
  "x := 20\nx + 1", "20 + 1", 'fmt.Fprintln(os.Stderr, "err")', "var m map[string]int\nm[\"a\"] = 1", "y := x +", "undefinedName",
  "type pair[T any] struct{ v T }\npair[int]{3}", "s := []int{3, 1, 2}\nsort.Slice(s, func(i, j int) bool { return s[i] < s[j] })\ns",
  "go func() { panic(1) }()", "errors.New(\"e\")", "strings.Split(\"a b\", \" \")[5]",
];
for (const cell of cells) {
  const { status, evalue } = await execute(cell);
  if (status !== "ok") { console.error(`${notebook}: ${evalue}\n${cell}`); process.exit(1); }
}
for (const cell of more) await execute(cell);
await execute("for { x++ }", () => setTimeout(() => send("control", "interrupt_request", {}), 200));
await reply(send("shell", "complete_request", { code: "strings.Rep", cursor_pos: 11 }), "complete_reply");
await reply(send("shell", "inspect_request", { code: "strings.Repeat", cursor_pos: 10, detail_level: 0 }), "inspect_reply");
await reply(send("shell", "is_complete_request", { code: "for {" }), "is_complete_reply");
// What JupyterLab asks when it opens a notebook, and runs a cell.
const ask = (channel, type, content) => reply(send(channel, `${type}_request`, content), `${type}_reply`);
await ask("shell", "kernel_info", {});
await ask("shell", "history", { output: false, raw: true, hist_access_type: "tail", n: 10 });
send("shell", "comm_open", { comm_id: "c", target_name: "jupyter.widget.control", data: {} });
send("shell", "comm_msg", { comm_id: "c", data: { method: "request_states" } });
const { subshell_id } = await ask("control", "create_subshell", {});
await ask("shell", "execute", { silent: false, store_history: true, user_expressions: {}, allow_stdin: true, stop_on_error: true, code: "1" });
await ask("shell", "comm_info", { target_name: "jupyter.widget" });
await ask("control", "delete_subshell", { subshell_id });
const used = new Set();
const add = (program) => { for (let i = 0; program[`f${i}`]; i++) if (program[`f${i}`].value) used.add(i); };
add(exports);
// The runtime calls some of its functions only if memory is arranged in a certain way. Its functions come first; "run" is one of the
// last, and the name of an exported function is its number, counted with the few imported ones.
for (let i = 0; i <= Number(exports.run.name); i++) used.add(i);
// A map calls the function that compares its keys only if hashes are alike, and they are random: more starts find more of them.
for (let start = 0; start < 4; start++) add((await import(`./test/session.mjs?start=${start}`)).exports);
writeFileSync(file, [...used].sort((a, b) => a - b).join("\n"));
console.log(`${used.size} functions are used`);
process.exit(0);
