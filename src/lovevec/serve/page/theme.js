// Light or dark: as the system has it until somebody chooses. Runs before the page is painted.
{
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("lovevec-theme") ?? (dark.matches ? "dark" : "light");
  const apply = () => {
    root.dataset.theme = chosen();
    const button = document.getElementById("theme");
    if (button) button.textContent = chosen() === "dark" ? "Light" : "Dark";
    document.dispatchEvent(new Event("theme"));
  };
  apply();
  dark.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme").addEventListener("click", () => {
      localStorage.setItem("lovevec-theme", chosen() === "dark" ? "light" : "dark");
      apply();
    });
  });
}
