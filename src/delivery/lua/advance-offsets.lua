--[[ advance-offsets: moves offsets of subscriptions in the logs of workspaces, each only from where its batch was read, and only while its
  deliveries are entered.
  Atomic because: an offset that is no longer there was moved by another dispatcher, or Redis went back to an earlier state. In both cases
  the one in Redis is right, and a write over it would repeat or skip events. Redis may also have gone back to where the batch was read but
  not entered: an offset that moved then would skip it.
  KEYS n × (offsets of the subscription · entered from the log)    ARGV n × (workspace · log id from · log id to · serial entered last, or "")
  RETURN "done"    Cost O(n). Never calls TIME. ]]
--- @include "serial"
for at = 1, #ARGV, 4 do
  local offsets, entered = KEYS[(at + 1) / 2], KEYS[(at + 3) / 2]
  local workspace, from, to, serial = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if redis.call('HGET', offsets, workspace) == from and hasEntered(entered, serial) then
    redis.call('HSET', offsets, workspace, to)
  end
end
return 'done'
