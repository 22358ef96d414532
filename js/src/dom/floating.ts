/** What hangs from its parent's right end hangs from the left where it would leave the app. */
export function keepInside(list: HTMLElement): void {
  list.classList.remove("pdl-flipped");
  const app = list.closest(".pdl-app");
  const isOutside = !!app && list.getBoundingClientRect().left < app.getBoundingClientRect().left;
  list.classList.toggle("pdl-flipped", isOutside);
}
