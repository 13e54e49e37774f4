"use strict";
const tables = Array.from(document.querySelectorAll("table"));

// A click on a head sorts by its column; numbers largest first.
tables.forEach((table) => {
  const body = table.tBodies[0];
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    head.addEventListener("click", () => {
      const key = (row) => row.cells[column];
      const sorted = Array.from(body.rows).sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        return "n" in x.dataset ? y.dataset.n - x.dataset.n : x.textContent.localeCompare(y.textContent);
      });
      body.append(...sorted);
    });
  });
});

// What is typed hides other kernels and marks the launches.
document.getElementById("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  const has = (text) => wanted === "" || text.toLowerCase().includes(wanted);
  tables.filter((table) => table.id.startsWith("kernels")).forEach((table) => {
    Array.from(table.tBodies[0].rows).forEach((row) => { row.hidden = !has(row.textContent); });
  });
  document.querySelectorAll(".launch").forEach((launch) => {
    launch.classList.toggle("found", wanted !== "" && has(launch.querySelector("title").textContent));
  });
});
