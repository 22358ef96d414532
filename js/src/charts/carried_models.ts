/**
 * Of Bokeh's models those that the memory's figures are made from: a saved page carries no others.
 * Whatever those need of Bokeh comes along with them.
 */
export { BoxAnnotation } from "@bokeh/bokehjs/build/js/lib/models/annotations/box_annotation";
export { LinearAxis } from "@bokeh/bokehjs/build/js/lib/models/axes/linear_axis";
export { TickFormatter } from "@bokeh/bokehjs/build/js/lib/models/formatters/tick_formatter";
export { Grid } from "@bokeh/bokehjs/build/js/lib/models/grids/grid";
export { Plot } from "@bokeh/bokehjs/build/js/lib/models/plots/plot";
export { NoOverlap } from "@bokeh/bokehjs/build/js/lib/models/policies/labeling";
export { Range1d } from "@bokeh/bokehjs/build/js/lib/models/ranges/range1d";
export { AdaptiveTicker } from "@bokeh/bokehjs/build/js/lib/models/tickers/adaptive_ticker";
export { BasicTicker } from "@bokeh/bokehjs/build/js/lib/models/tickers/basic_ticker";
export { RangeTool } from "@bokeh/bokehjs/build/js/lib/models/tools/gestures/range_tool";
