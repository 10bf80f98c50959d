// Writes the numbers of the functions that a notebook needs, for link split, with a program of link count:
//	node --stack-size=8192 profile.mjs WASM_EXEC PROGRAM NOTEBOOK USED
import { readFileSync, writeFileSync } from "node:fs";
import { execute, exports, reply, send } from "./test/session.mjs";

const [notebook, used] = process.argv.slice(4);
const cells = JSON.parse(readFileSync(notebook, "utf8")).cells.filter((c) => c.cell_type === "code").map((c) => [c.source].flat().join(""));
// What notebooks need beside cells that work.
const more = [
  "x := 20\nx + 1", 'fmt.Fprintln(os.Stderr, "err")', "var m map[string]int\nm[\"a\"] = 1", "y := x +", "undefinedName",
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
const numbers = [];
for (let i = 0; exports[`f${i}`]; i++) if (exports[`f${i}`].value) numbers.push(i);
writeFileSync(used, numbers.join("\n"));
console.log(`${numbers.length} functions are used`);
process.exit(0);
