// Runs in the page: loads a widget's module as its host does, from text by way of a blob, and renders
// it with an object of traits. `model` has what it was told, and tells the widget what is set.
window.hostWidget = async ({ source, view, bytes }) => {
  const listeners = new Map();
  const model = {
    values: {
      _view_script: view,
      _view_build: "the test's",
      _data: bytes ? { payload: new DataView(Uint8Array.from(bytes).buffer) } : {},
      _stored: {},
      _height: 420,
      selected_op: -1,
      selected_grad_node: -1,
    },
    saved: 0,
    get: (name) => model.values[name],
    set(name, value) {
      model.values[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) {
        listener();
      }
    },
    on(name, listener) {
      listeners.set(name, (listeners.get(name) ?? new Set()).add(listener));
    },
    off(name, listener) {
      listeners.get(name)?.delete(listener);
    },
    save_changes() {
      model.saved++;
    },
    // Nobody is there who would answer.
    send() {},
    tell(content, buffers = []) {
      for (const listener of listeners.get("msg:custom") ?? []) {
        listener(content, buffers);
      }
    },
  };
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: widget } = await import(address);
  widget.initialize({ model });
  window.model = model;
  window.cleanUp = widget.render({ model, el: document.querySelector("#out") });
};
