// A front end may run this script elsewhere in the page, and a page may have several copies of it: each looks for the
// tables that none has found yet.
for (const box of document.querySelectorAll(".quern-table:not([data-live])")) {
	const stored = box.querySelector("script[type='application/json']")
	if (!stored) continue
	box.dataset.live = ""
	const { kinds, gap, total, more } = JSON.parse(stored.textContent)
	const table = box.querySelector("table"), fixed = table.tBodies[0], size = 25
	// A row is a list of cells, a cell its text and, if that differs, its key; the key of a missing value is empty.
	const all = [...fixed.rows].filter((_, i) => i !== gap).map(tr => [...tr.cells].map(c => [c.textContent, c.dataset.key]))
	if (gap >= 0) all.splice(gap, 0, ...more.map(row => row.map(c => [].concat(c))))
	let rows = all, page = 0, sorted = -1, sign = 1
	const value = ([text, key = text], j) => {
		if (key === "") return null
		if (kinds[j] === "t") return text
		if (/^-?\d{16,}$/.test(key)) return BigInt(key)
		key = Number(key.replace("Inf", "Infinity"))
		return isNaN(key) ? null : key
	}
	const texts = new Intl.Collator(undefined, { numeric: true })
	const compare = (a, b) => kinds[sorted] === "t" ? texts.compare(a, b) : a < b ? -1 : a > b ? 1 : 0
	const sort = () => {
		const keyed = all.map(row => [value(row[sorted], sorted), row])
		keyed.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b))
		return keyed.map(([, row]) => row)
	}
	const element = row => {
		const tr = fixed.rows[0].cloneNode(true)
		row.forEach(([text, key], j) => {
			tr.cells[j].textContent = text
			tr.cells[j].style.opacity = key === "" ? 0.5 : ""
		})
		return tr
	}
	const style = document.createElement("style")
	style.textContent = "@media screen{.quern-fixed{display:none}}@media print{.quern-view,.quern-pager{display:none}}"
	box.append(style)
	fixed.className = "quern-fixed"
	const view = table.createTBody()
	view.className = "quern-view"
	const pager = document.createElement("div"), label = document.createElement("span")
	pager.className = "quern-pager"
	pager.style.margin = "4px 0"
	label.style.margin = "0 8px"
	label.setAttribute("aria-live", "polite")
	const last = Math.ceil(all.length / size) - 1
	const buttons = [["«", "first rows", () => 0], ["‹", "previous rows", () => page - 1], ["›", "next rows", () => page + 1], ["»", "last rows", () => last]].map(([text, title, to]) => {
		const button = document.createElement("button")
		button.textContent = text
		button.title = title
		button.setAttribute("aria-label", title)
		button.dataset.lmSuppressShortcuts = "true"
		button.onclick = () => show(to())
		return button
	})
	const show = to => {
		page = to
		const begin = page * size, part = rows.slice(begin, begin + size)
		view.replaceChildren(...part.map(element))
		const left = gap + more.length - begin
		if (sorted < 0 && total > all.length && left >= 0 && left < part.length) {
			const tr = element(all[0].map(() => ["⋮"]))
			view.insertBefore(tr, view.rows[left])
		}
		label.textContent = `${begin + 1}–${begin + part.length} of ` + (total > all.length ? `the ${all.length} rows in this notebook` : `${total} rows`)
		buttons.forEach((b, i) => { b.disabled = page === (i < 2 ? 0 : last) })
	}
	pager.append(buttons[0], buttons[1], label, buttons[2], buttons[3])
	if (last > 0 || total > all.length) table.after(pager)
	const marks = []
	const heads = [...table.tHead.rows[0].cells]
	heads.forEach((th, j) => {
		if (kinds[j] === "-") return
		marks[j] = document.createElement("span")
		marks[j].style.cssText = "display:inline-block;width:0;font-size:70%"
		th.insertBefore(marks[j], th.querySelector("br"))
		const press = () => {
			[sorted, sign] = sorted !== j ? [j, 1] : sign > 0 ? [j, -1] : [-1, 1]
			rows = sorted < 0 ? all : sort()
			heads.forEach((h, k) => {
				if (!marks[k]) return
				marks[k].textContent = k !== sorted ? "" : sign > 0 ? "▲" : "▼"
				h.setAttribute("aria-sort", k !== sorted ? "none" : sign > 0 ? "ascending" : "descending")
			})
			show(0)
		}
		th.tabIndex = 0
		th.style.cursor = "pointer"
		th.title = "sort by this column"
		th.setAttribute("aria-sort", "none")
		th.dataset.lmSuppressShortcuts = "true"
		th.onclick = press
		th.onkeydown = e => {
			if (e.key !== "Enter" && e.key !== " ") return
			e.preventDefault()
			press()
		}
	})
	show(0)
}
