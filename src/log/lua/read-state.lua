--[[ read-state: a workspace's state, and the server and the log that it is about to be used with.
  Atomic because: the end of the log is compared with offsets, and the state says whether the log belongs to this server.
  KEYS 1 state · 2 log
  RETURN {state or "", run id of the server, last id of the log or ""}    Cost O(1). Never calls TIME. ]]
--- @include "server"
local last = ''
if redis.call('EXISTS', KEYS[2]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[2])
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then last = info[at + 1] end
  end
end
return { redis.call('GET', KEYS[1]) or '', serverId(), last }
