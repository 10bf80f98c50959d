// Runs Go tests for js/wasm with the functions of src/simd.mjs, under Node; $GOROOT is Go's folder:
//	GOOS=js GOARCH=wasm go test -tags quern_simd -exec 'node --stack-size=8192 install/lite/test/exec.mjs' PACKAGE
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { addVectorFunctions } from "../src/simd.mjs";

globalThis.fs = fs;
globalThis.path = path;
const [program, ...args] = process.argv.slice(2);
await import(path.join(process.env.GOROOT, "lib/wasm/wasm_exec.js"));
const go = new Go();
go.argv = [program, ...args];
go.env = { TMPDIR: os.tmpdir(), PWD: process.cwd() };
go.exit = process.exit;
const connect = addVectorFunctions(go.importObject);
const { instance } = await WebAssembly.instantiate(fs.readFileSync(program), go.importObject);
connect(instance.exports.mem);
await go.run(instance);
