--[[ replace-receipts: gives some entries of the stream, and the open receipts, other contents: receipts of an erased record are left out. The
  entries keep their ids, which are the times by which old ones are dropped.
  Atomic because: the contents of an entry cannot be changed, so the stream is written anew, and none that is added meanwhile may be lost.
  KEYS 1 receipts · 2 open receipts    ARGV 1 open receipts as they were read · 2 what they become ("" for none) · n × (id of an entry · what it becomes, "" for none)
  RETURN "replaced" | "moved": there are other open receipts now    Cost O(entries). Never calls TIME. ]]
if (redis.call('GET', KEYS[2]) or '') ~= ARGV[1] then return 'moved' end
if ARGV[2] == '' then redis.call('DEL', KEYS[2]) else redis.call('SET', KEYS[2], ARGV[2]) end
if #ARGV == 2 then return 'replaced' end
local others = {}
for at = 3, #ARGV, 2 do others[ARGV[at]] = ARGV[at + 1] end
local entries = redis.call('XRANGE', KEYS[1], '-', '+')
redis.call('DEL', KEYS[1])
for _, entry in ipairs(entries) do
  local chunk = others[entry[1]] or entry[2][2]
  if chunk ~= '' then redis.call('XADD', KEYS[1], entry[1], entry[2][1], chunk) end
end
return 'replaced'
