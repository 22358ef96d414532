import { describe, expect, it } from "vitest";
import { serverPath } from "../../../src/labextension/source/server_path.ts";

const server = { root_uri: "file:///home/me/my%20nets", server_root: "~/my nets" };

describe("serverPath", () => {
  it("gives the path below the server's root", () => {
    expect(serverPath("/home/me/my nets/src/net.py", server)).toBe("src/net.py");
  });

  it("refuses what lies outside, a sibling with the same beginning included", () => {
    expect(serverPath("/usr/lib/python3/net.py", server)).toBeNull();
    expect(serverPath("/home/me/my nets 2/net.py", server)).toBeNull();
    expect(serverPath("/home/me/my nets/../net.py", server)).toBeNull();
  });

  it("refuses hidden directories, which the server does not serve", () => {
    expect(serverPath("/home/me/my nets/.venv/lib/paddle/nn.py", server)).toBeNull();
  });

  it("goes by the server root where there is no address, if that is a whole path", () => {
    expect(serverPath("/srv/nets/a.py", { root_uri: "", server_root: "/srv/nets" })).toBe("a.py");
    expect(serverPath("/home/me/nets/a.py", { root_uri: "", server_root: "~/nets" })).toBeNull();
    expect(serverPath("C:\\nets\\a.py", { root_uri: "file:///C:/nets", server_root: "" })).toBe(
      "a.py",
    );
  });
});
