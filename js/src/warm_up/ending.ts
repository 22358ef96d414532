/** Whether to go on warming up: the one thing of it that a view has to know. */

let isOver = false;

/** A graph is there: what is run for it is the better exercise. */
export function endWarmUp(): void {
  isOver = true;
}

export function isWarmUpOver(): boolean {
  return isOver;
}
