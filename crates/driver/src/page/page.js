"use strict";
const table = document.getElementById("kernels");
const body = table.tBodies[0];
const rows = () => Array.from(body.rows);

// A click on a head sorts by its column; numbers largest first.
Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
  head.addEventListener("click", () => {
    const key = (row) => row.cells[column];
    const sorted = rows().sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return "n" in x.dataset ? y.dataset.n - x.dataset.n : x.textContent.localeCompare(y.textContent);
    });
    body.append(...sorted);
  });
});

// What is typed hides other rows and marks the launches.
document.getElementById("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  const has = (text) => wanted === "" || text.toLowerCase().includes(wanted);
  rows().forEach((row) => { row.hidden = !has(row.textContent); });
  document.querySelectorAll(".launch").forEach((launch) => {
    launch.classList.toggle("found", wanted !== "" && has(launch.querySelector("title").textContent));
  });
});
